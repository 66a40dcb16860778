import { addCopyButtons } from './copy-buttons.js'
import { addSearch } from './search.js'

const header = document.querySelector('.top')
if (header !== null) addSearch(header)
addCopyButtons()
