import { getRegistry } from '../../../registry'

export const GET = (request: Request) => getRegistry().auth.handler(request)
export const POST = (request: Request) => getRegistry().auth.handler(request)
