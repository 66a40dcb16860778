import { command as collections } from './restore/collections.js'
import { command as check } from './restore/restore-check.js'
import { defineSubject } from './support/command.js'

/** After a restore of the database: lists what it has lost, adopts it, and lets payouts run again. */
const usage = 'npm run ops -- restore <verb>: after a restore of the database, what it has lost'

export const command = await defineSubject(import.meta, usage, { check, collections })
