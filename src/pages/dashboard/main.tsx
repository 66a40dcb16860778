import '../ui/base.css'
// Of two rules that fit equally, the later one wins.
import './styles/frame.css'
import './styles/home.css'
import './styles/lists.css'
import './styles/screens.css'
import './styles/narrow.css'
import { render } from 'preact'
import { App } from './app.js'
import { followTheme } from './theme.js'

followTheme()
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
