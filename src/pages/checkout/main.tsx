import '../ui/base.css'
import { render } from 'preact'

const root = document.getElementById('app')
if (root !== null) render(<main>Tip</main>, root)
