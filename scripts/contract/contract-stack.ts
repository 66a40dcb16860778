import { mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, freePorts } from '../dev/ports.js'
import { type Layer, ProcessGroup } from '../dev/process-group.js'
import { type StackSettings, stackSettings, standInsUrl } from '../dev/settings.js'
import { startStack } from '../dev/stack.js'
import type { Program } from '../dev/supervise.js'

/** Addresses of a server under test. */
export interface ContractServer {
  readonly url: string
  /** Undefined for a server without stand-ins: the checks that need them are skipped. */
  readonly standIns: string | undefined
}

export interface StackOptions {
  /** The data of earlier runs in this folder is used. */
  readonly dataDir: string
  /** By default the stack starts its own. */
  readonly databaseUrl?: string
  readonly redisUrl?: string
  readonly print: (text: string) => void
}

/** A stack that runs with the processes and the default settings of `npm run dev`, on free ports. */
export interface ContractStack extends ContractServer {
  stop(): Promise<void>
}

/** Processes whose output goes to a file, so that the last line of a test run stays the last one. */
class LoggedProcesses extends ProcessGroup {
  readonly #output: number

  constructor(print: (text: string) => void, file: string) {
    super(print)
    this.#output = openSync(file, 'w')
  }

  override start(layer: Layer, name: string, program: Program): void {
    super.start(layer, name, { output: this.#output, ...program })
  }
}

/** A free port may be taken before the stack has opened it, for example by the stack of another clone. */
const attempts = 2

/** Starts the stack. Stops what has started when the start fails. `onProcesses` gets them before the first one runs. */
export async function startContractStack(
  { dataDir, print, ...given }: StackOptions,
  onProcesses: (processes: ProcessGroup) => void = () => undefined,
): Promise<ContractStack> {
  mkdirSync(dataDir, { recursive: true })
  const log = join(dataDir, 'stack.log')
  for (let attempt = 1; ; attempt++) {
    const processes = new LoggedProcesses(print, log)
    onProcesses(processes)
    const settings = await freeSettings(dataDir, given)
    try {
      const env = contractEnvironment(process.env)
      await startStack({ settings, processes, print, env, roles: true })
      return {
        url: `http://localhost:${settings.PORT}`,
        standIns: standInsUrl(settings),
        stop: () => processes.stop(),
      }
    } catch (error) {
      await processes.stop()
      if (attempt === attempts)
        throw new Error(`the stack for the contract did not start; its messages are in ${log}`, {
          cause: error,
        })
      print('the stack for the contract did not start; it is started again on other ports')
    }
  }
}

/** What programs need of the caller's environment. Everything else could be a setting. */
const systemNames = /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|NODE_OPTIONS)$/

/**
 * The environment of the stack's processes: without the settings that the shell exports, so that the checks never touch the
 * database, the Redis or a provider that they name.
 */
export function contractEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => systemNames.test(name)))
}

/** The defaults of every setting, except for ports and folders. Not the settings of the caller's environment. */
async function freeSettings(
  dataDir: string,
  { databaseUrl, redisUrl }: Pick<StackOptions, 'databaseUrl' | 'redisUrl'>,
): Promise<StackSettings> {
  // One after the other, so that no port of a pair is given out again.
  const web = await freePorts(2)
  const sandbox = await freePorts(2)
  const [smtp, postgres, redis] = await Promise.all([freePort(), freePort(), freePort()])
  return stackSettings({
    DATA_DIR: dataDir,
    PORT: String(web),
    SANDBOX_PORT: String(sandbox),
    SMTP_PORT: String(smtp),
    PG_PORT: String(postgres),
    REDIS_PORT: String(redis),
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
  })
}
