import { readFileSync } from 'node:fs'
import { shiftedDate } from './shifted-date.js'

/**
 * A module that is loaded before a process of the service (`node --import`). The wall clock of the process is wrong by as many
 * milliseconds as the file `CLOCK_SHIFT_FILE` says. The file is read anew several times a second, so that the clock can step while
 * the process runs.
 */
const file = process.env['CLOCK_SHIFT_FILE'] ?? ''
const readMs = 200
const read = (): number => Number(readFileSync(file, 'utf8'))

let shiftMs = read()
setInterval(() => {
  shiftMs = read()
}, readMs).unref()
globalThis.Date = shiftedDate(Date, () => shiftMs)
