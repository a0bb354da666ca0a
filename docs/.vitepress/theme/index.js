import DefaultTheme from 'vitepress/theme'

import ReasonFinder from './ReasonFinder.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('ReasonFinder', ReasonFinder)
  },
}
