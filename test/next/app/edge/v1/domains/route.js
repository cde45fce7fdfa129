export const runtime = 'edge'
export { handleDomains as POST } from '../../../registry.js'
