import { useData } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { defineAsyncComponent, defineComponent, h } from 'vue'
import mark from '../../mark.svg?raw'
import './style.css'

/** These components are loaded only on their pages, because they import the package. */
const LiveElement = defineAsyncComponent(() => import('./LiveElement.vue'))
const Playground = defineAsyncComponent(() => import('./playground/Playground.vue'))

/** The layout of VitePress with our mark, and with the version at the end of each page. */
const Layout = defineComponent(() => {
  const { theme: config } = useData()
  const createFooter = () => `domain-registration ${config.value.version} · MIT licence`
  return () =>
    h(theme.Layout, null, {
      'nav-bar-title-before': () => h('span', { class: 'mark', 'aria-hidden': 'true', innerHTML: mark }),
      'doc-after': () => h('p', { class: 'page-end' }, createFooter()),
      'page-bottom': () => h('p', { class: 'page-end landing-end' }, createFooter()),
    })
})

export default {
  ...theme,
  Layout,
  enhanceApp({ app }) {
    app.component('LiveElement', LiveElement)
    // Not `Playground`: in excerpts of the search, where it is not registered, Vue would take the page for it.
    app.component('LivePlayground', Playground)
  },
}
