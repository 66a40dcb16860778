import type { ExecutionContext } from 'ava'
import { startTcpProxy, type TcpProxy, type TrafficWatch } from '../../../scripts/kit/tcp-proxy.js'

/** Starts a proxy for one test. It is closed after the test. */
export async function tcpProxyFor(
  t: ExecutionContext,
  url: string,
  watch?: () => TrafficWatch,
): Promise<TcpProxy> {
  const wire = await startTcpProxy(url, watch)
  t.teardown(wire.close)
  return wire
}
