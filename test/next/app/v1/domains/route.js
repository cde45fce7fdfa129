export { handleDomains as POST } from '../../registry.js'
