/** The BroadcastChannel between the dashboard and the overlays of a wallet in the same browser. */
export function testChannel(wallet: string): string {
  return `overlay-test:${wallet}`
}

/** Makes every overlay of the wallet that is open in this browser show a sample. */
export function sendTestAlert(wallet: string): void {
  const channel = new BroadcastChannel(testChannel(wallet))
  channel.postMessage('test')
  channel.close()
}
