import '../ui/base.css'
import './dashboard.css'
import { render } from 'preact'
import { App } from './app.js'
import { followTheme } from './theme.js'

followTheme()
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
