// A shop that is paid with tips: an order, a checkout with the order's number as reference, and a webhook that marks
// the order paid.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { createBackendClient, verifyWebhook, WebhookError } from 'tipping-client'

const { API_KEY, CREATOR_ID, WEBHOOK_SECRET } = process.env
const { TIPPING_URL = 'http://localhost:3000', PORT = '5173' } = process.env
const backend = createBackendClient({ baseUrl: TIPPING_URL, apiKey: API_KEY })
const priceUsd = 10
/** A swap costs its fee first, and SOL counts at the price when it arrives. */
const enoughUsd = priceUsd * 0.95
/** By their numbers. A real shop keeps them in its database. */
const orders = new Map()

async function createOrder() {
  const id = randomUUID()
  const originUrl = `http://localhost:${PORT}`
  const { config } = await backend.init({ creatorId: CREATOR_ID, originUrl, reference: id })
  orders.set(id, { checkoutUrl: config.embedUrl, payments: new Map() })
  return id
}

/** The payer chooses what they pay, so what counts is the sum. */
const isPaid = ({ payments }) => [...payments.values()].reduce((sum, usd) => sum + usd, 0) >= enoughUsd

/** A webhook may come twice: the second one changes nothing. */
function handle({ type, data }) {
  const order = orders.get(data.reference)
  if (order === undefined) return
  if (type === 'tip.confirmed') order.payments.set(data.signature, data.valueUsd)
  if (type === 'tip.failed') order.payments.delete(data.signature)
}

async function receiveWebhook(request, response) {
  const body = await readBody(request)
  try {
    handle(await verifyWebhook({ body, headers: request.headers, secret: WEBHOOK_SECRET }))
    response.writeHead(204).end()
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error
    response.writeHead(400).end(error.message)
  }
}

async function readBody(request, mostBytes = 1_000_000) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > mostBytes) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const page = (content) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Shop</title><h1>Shop</h1>${content}</html>`
const startPage = page(`<form method="post" action="/orders"><button>Buy for ${priceUsd} USD</button></form>`)
const orderPage = (id, { checkoutUrl }) =>
  page(`<p>Order ${id}: <b id="status">not paid</b></p>
<iframe src="${checkoutUrl}" title="Checkout" width="420" height="640" allow="clipboard-write"></iframe>
<script type="module">
  const isPaid = async () => (await fetch('/orders/${id}/paid')).json()
  while (!(await isPaid())) await new Promise((done) => setTimeout(done, 1000))
  document.getElementById('status').textContent = 'paid'
</script>`)

async function serve(request, response) {
  const [, folder, id, what] = request.url.split('/')
  const order = orders.get(id)
  const html = { 'content-type': 'text/html; charset=utf-8' }
  if (request.method === 'POST' && request.url === '/webhooks') return receiveWebhook(request, response)
  if (request.method === 'POST' && request.url === '/orders')
    return response.writeHead(303, { location: `/orders/${await createOrder()}` }).end()
  if (request.url === '/') return response.writeHead(200, html).end(startPage)
  if (folder !== 'orders' || order === undefined) return response.writeHead(404).end()
  if (what === 'paid') return response.end(JSON.stringify(isPaid(order)))
  return response.writeHead(200, html).end(orderPage(id, order))
}

createServer((request, response) => {
  serve(request, response).catch((error) => {
    console.error(error)
    response.writeHead(500).end()
  })
}).listen(Number(PORT), () => console.log(`the shop is open: http://localhost:${PORT}`))
