import './overlay.css'
import { render } from 'preact'
import { words } from '../i18n/overlay.js'
import { Overlay } from './overlay.js'
import { readParameters } from './parameters.js'

const parameters = readParameters(new URLSearchParams(location.search))
const { wallet, position, animation, accent, scale, theme } = parameters
const page = document.documentElement
page.dataset['theme'] = theme
page.dataset['position'] = position
page.dataset['animation'] = animation
page.style.setProperty('--tip-accent', accent)
page.style.setProperty('--tip-scale', String(scale))

const root = document.getElementById('app')
if (root !== null)
  render(
    wallet === undefined ? (
      <p class="fault">{words.noWallet}</p>
    ) : (
      <Overlay parameters={parameters} wallet={wallet} />
    ),
    root,
  )
