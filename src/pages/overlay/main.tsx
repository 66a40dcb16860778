import './overlay.css'
import { render } from 'preact'
import { words } from '../i18n/overlay.js'
import { lookOf } from './look.js'
import { Overlay } from './overlay.js'
import { readParameters } from './parameters.js'
import { tokenSource, walletSource } from './source.js'
import { Widget, widgets } from './widget.js'

const query = new URLSearchParams(location.search)
const parameters = readParameters(query)
const [, token] = /^\/overlay\/([\w-]+)\/?$/.exec(location.pathname) ?? []

function page() {
  const { wallet, preview, test } = parameters
  if (token === undefined && wallet === undefined) return <p class="fault">{words.noWallet}</p>
  const widget = widgets.find((name) => name === query.get('show'))
  if (token !== undefined && widget !== undefined) return <Widget token={token} name={widget} />
  if (token !== undefined)
    return (
      <Overlay
        source={tokenSource(token)}
        first={lookOf(readParameters(new URLSearchParams()))}
        preview={preview}
      />
    )
  return (
    <Overlay source={walletSource(wallet ?? '')} first={lookOf(parameters)} preview={preview} test={test} />
  )
}

const root = document.getElementById('app')
if (root !== null) render(page(), root)
