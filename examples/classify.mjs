import { classifyHostname } from 'domain-registration'

console.log(classifyHostname(' Bücher.example.com. '))
console.log(classifyHostname('https://example.com/'))
