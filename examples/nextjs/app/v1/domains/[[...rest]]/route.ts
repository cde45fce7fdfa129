import { getRegistry } from '../../../registry'

export const GET = (request: Request) => getRegistry().handle(request)
export const POST = (request: Request) => getRegistry().handle(request)
