import '../ui/base.css'
import './verify.css'
import { render } from 'preact'
import { Verify } from './verify.js'

const root = document.getElementById('app')
if (root !== null)
  render(
    <Verify
      keys={JSON.parse(document.documentElement.dataset['keys'] ?? '[]')}
      token={location.hash.slice(1)}
    />,
    root,
  )
