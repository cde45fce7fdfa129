import theme from 'vitepress/theme-without-fonts'
import { defineAsyncComponent } from 'vue'
import './style.css'

/** These components are loaded only on the page of the playground, because they import the package. */
const components = {
  PasteHostnames: defineAsyncComponent(() => import('./playground/PasteHostnames.vue')),
  TwoTeams: defineAsyncComponent(() => import('./playground/TwoTeams.vue')),
}

export default {
  ...theme,
  enhanceApp({ app }) {
    for (const [name, component] of Object.entries(components)) app.component(name, component)
  },
}
