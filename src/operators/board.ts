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

/** A request to one of Bull Board's reads. */
interface BoardRequest {
  readonly query: Record<string, unknown>
  readonly params: Record<string, string>
}

/** One of Bull Board's GET endpoints. */
interface BoardRead {
  readonly path: string
  read(request: BoardRequest): Promise<{ readonly status: number; readonly body: unknown }>
}

/** Bull Board without a web framework: its page, its files and its reads. Everything that changes a queue is left out. */
export interface Board {
  /** The paths that show the page. */
  readonly views: readonly string[]
  readonly page: string
  readonly reads: readonly BoardRead[]
  /** A file of the page by its path below `static/`; undefined when there is no such file. */
  readFile(path: string): Buffer | undefined
}

/**
 * The server adapter that Bull Board fills in when it is created. It keeps the parts, and serves nothing. Not @bull-board/koa
 * (9.10): 84 packages of 5 MB in place of 130 lines, for a page that loads fonts from elsewhere, the routes that change queues,
 * and reads that never end without Redis.
 */
class BoardParts implements IServerAdapter {
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

const redisTimeoutMs = 5000

/** Creates Bull Board for these queues, to be served below `basePath`. */
export function createBoard({ queues }: OpenQueues, basePath: string): Board {
  const parts = new BoardParts()
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
    page: renderPage(parts, basePath),
    reads: parts.routes
      .filter(({ method }) => [method].flat().includes('get'))
      .flatMap((route) => listReads(parts, route)),
    readFile: createFileReader(parts.staticPath),
  }
}

function listReads(parts: BoardParts, { route, handler }: AppControllerRoute): BoardRead[] {
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
      return answerInTime(parts, () => handler(request))
    },
  }))
}

/** Without Redis a read would wait without end, so it answers 503 after five seconds. */
async function answerInTime(
  parts: BoardParts,
  handle: () => ReturnType<AppControllerRoute['handler']>,
): Promise<{ readonly status: number; readonly body: unknown }> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<{ status: number; body: unknown }>((resolve) => {
    timer = setTimeout(
      () => resolve({ status: 503, body: { error: 'Redis does not answer' } }),
      redisTimeoutMs,
    )
  })
  try {
    const { status = 200, body } = await Promise.race([handle(), timeout])
    return { status, body }
  } catch (error) {
    const { status = 500, body = {} } = parts.onError?.(error as Error) ?? {}
    return { status, body }
  } finally {
    clearTimeout(timer)
  }
}

/** Fills in the placeholders of Bull Board's template. Fonts from other servers are removed. */
function renderPage({ entry, viewsPath, uiConfig }: BoardParts, basePath: string): string {
  const { name: template = '', params = {} } = entry?.handler({ basePath, uiConfig }) ?? {}
  const page = readFileSync(join(viewsPath, template), 'utf8')
    .replace(/<link[^>]*fonts\.googleapis[^>]*>/g, '')
    .replace(/<%([=-])\s*(\w+)\s*%>/g, (_, sign: string, name: string) => {
      const value = String((params as Record<string, unknown>)[name] ?? '')
      return sign === '=' ? escapeHtml(value) : value
    })
  if (page.includes('<%'))
    throw new Error('The page template of this version of Bull Board has placeholders of an unknown form')
  return page
}

/** Serves only files that were in the folder at the start, so no path leads outside of it. */
function createFileReader(folder: string): (path: string) => Buffer | undefined {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const known = new Map(paths.map((path) => [path.slice(folder.length + 1).replaceAll(sep, '/'), path]))
  return (path) => {
    const file = known.get(path)
    return file === undefined ? undefined : readFileSync(file)
  }
}
