import theme from 'vitepress/theme-without-fonts'
import { defineAsyncComponent } from 'vue'
import './style.css'

/** Loaded only by the playground, because its components import the package. */
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
