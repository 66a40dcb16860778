/** The name under which the dashboard and the overlays of a wallet find each other in one browser. */
export function testChannel(wallet: string): string {
  return `overlay-test:${wallet}`
}

/** Asks every overlay of the wallet that is open in this browser for a sample. */
export function sendTestAlert(wallet: string): void {
  const channel = new BroadcastChannel(testChannel(wallet))
  channel.postMessage('test')
  channel.close()
}
