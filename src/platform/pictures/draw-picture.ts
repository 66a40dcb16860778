import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createSemaphore } from '../semaphore.js'
import type { PictureJob } from './picture-program.js'

const program = fileURLToPath(new URL('./picture-program.js', import.meta.url))
const mostMs = 15_000
/** A process with the image library needs about 100 MB. */
const one = createSemaphore({ concurrency: 1, maxWaiting: 20 })

/** The picture could not be made: it is broken, too large, or none. */
export class PictureRefused extends Error {}

/**
 * Makes a picture in a process of its own, which knows nothing of ours and is killed when it takes too long: a picture that is
 * made to break its decoder harms no other request. Creators take turns. Throws `PictureRefused`.
 */
export function drawPicture(userId: string, job: PictureJob, given: Uint8Array): Promise<Buffer> {
  return one(() => runProgram(job, given), `${job.make} ${userId}`)
}

function runProgram(job: PictureJob, given: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--max-old-space-size=64', program, JSON.stringify(job)], {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: mostMs,
      killSignal: 'SIGKILL',
    })
    const parts: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.on('error', reject)
    child.on('close', (code) => {
      const made = Buffer.concat(parts)
      if (code === 0 && made.length > 0) resolve(made)
      else reject(new PictureRefused(`the picture could not be made: ${code ?? 'it took too long'}`))
    })
    // It may end before it has read everything.
    child.stdin.on('error', () => undefined)
    child.stdin.end(given)
  })
}
