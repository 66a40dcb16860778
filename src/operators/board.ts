import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import type {
  AppControllerRoute,
  AppViewRoute,
  BullBoardQueues,
  BullBoardRequest,
  ControllerHandlerReturnType,
  IServerAdapter,
  UIConfig,
} from '@bull-board/api/typings/app'
import { escapeHtml } from '../http/pages/html.js'
import type { OpenQueues } from '../platform/queue/queues.js'

/** What somebody asks of Bull Board. */
interface BoardRequest {
  readonly query: Record<string, unknown>
  readonly params: Record<string, string>
}

/** A read of Bull Board's: where, and what answers it. */
interface BoardRead {
  readonly path: string
  read(request: BoardRequest): Promise<{ readonly status: number; readonly body: unknown }>
}

/** Bull Board without a framework: its page, its files and its reads. What could change a queue is left out. */
export interface Board {
  /** The paths that answer with the page. */
  readonly views: readonly string[]
  readonly page: string
  readonly reads: readonly BoardRead[]
  /** A file of the page by its path below `static/`; undefined when there is none. */
  file(path: string): Buffer | undefined
}

/** What Bull Board hands over of itself while it is put together. */
class Parts implements IServerAdapter {
  queues: BullBoardQueues = new Map() as BullBoardQueues
  viewsPath = ''
  staticPath = ''
  entry: AppViewRoute | undefined
  routes: readonly AppControllerRoute[] = []
  uiConfig: UIConfig = {}
  onError: ((error: Error) => ControllerHandlerReturnType) | undefined

  setQueues(queues: BullBoardQueues): this {
    this.queues = queues
    return this
  }
  setViewsPath(path: string): this {
    this.viewsPath = path
    return this
  }
  setStaticPath(_: string, path: string): this {
    this.staticPath = path
    return this
  }
  setEntryRoute(route: AppViewRoute): this {
    this.entry = route
    return this
  }
  setErrorHandler(handler: (error: Error) => ControllerHandlerReturnType): this {
    this.onError = handler
    return this
  }
  setApiRoutes(routes: AppControllerRoute[]): this {
    this.routes = routes
    return this
  }
  setUIConfig(config: UIConfig): this {
    this.uiConfig = config
    return this
  }
}

const patienceMs = 5000

/** Puts Bull Board together for these queues, to be served below `basePath`. */
export function createBoard({ queues }: OpenQueues, basePath: string): Board {
  const parts = new Parts()
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false })),
    serverAdapter: parts,
    options: {
      uiBasePath: dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json')),
      uiConfig: { boardTitle: 'Queues', miscLinks: [{ text: 'Operators', url: dirname(basePath) }] },
    },
  })
  return {
    views: [parts.entry?.route ?? []].flat(),
    page: pageOf(parts, basePath),
    reads: parts.routes
      .filter(({ method }) => [method].flat().includes('get'))
      .flatMap((route) => readsOf(parts, route)),
    file: filesIn(parts.staticPath),
  }
}

function readsOf(parts: Parts, { route, handler }: AppControllerRoute): BoardRead[] {
  return [route].flat().map((path) => ({
    path,
    async read({ query, params }) {
      const request: BullBoardRequest = {
        queues: parts.queues,
        uiConfig: parts.uiConfig,
        query,
        params,
        body: {},
        headers: {},
      }
      return answerOf(parts, () => handler(request))
    },
  }))
}

/** Without Redis a read of a queue would wait for it, however long that takes. */
async function answerOf(
  parts: Parts,
  handle: () => ReturnType<AppControllerRoute['handler']>,
): Promise<{ readonly status: number; readonly body: unknown }> {
  let timer: NodeJS.Timeout | undefined
  const away = new Promise<{ status: number; body: unknown }>((resolve) => {
    timer = setTimeout(() => resolve({ status: 503, body: { error: 'Redis does not answer' } }), patienceMs)
  })
  try {
    const { status = 200, body } = await Promise.race([handle(), away])
    return { status, body }
  } catch (error) {
    const { status = 500, body = {} } = parts.onError?.(error as Error) ?? {}
    return { status, body }
  } finally {
    clearTimeout(timer)
  }
}

/** The page's template has five places; fonts of other people's servers are not loaded. */
function pageOf({ entry, viewsPath, uiConfig }: Parts, basePath: string): string {
  const { name = '', params = {} } = entry?.handler({ basePath, uiConfig }) ?? {}
  const page = readFileSync(join(viewsPath, name), 'utf8')
    .replace(/<link[^>]*fonts\.googleapis[^>]*>/g, '')
    .replace(/<%([=-])\s*(\w+)\s*%>/g, (_, sign: string, place: string) => {
      const value = String((params as Record<string, unknown>)[place] ?? '')
      return sign === '=' ? escapeHtml(value) : value
    })
  if (page.includes('<%')) throw new Error('The page of this version of Bull Board has another form')
  return page
}

/** Only what lies there when it is opened can be asked for, so no path leads elsewhere. */
function filesIn(folder: string): (path: string) => Buffer | undefined {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const known = new Map(paths.map((path) => [path.slice(folder.length + 1).replaceAll(sep, '/'), path]))
  return (path) => {
    const file = known.get(path)
    return file === undefined ? undefined : readFileSync(file)
  }
}
