import { pageWords as text } from '../../i18n/dashboard/page.js'
import { Button } from '../../ui/kit.js'
import { Card } from '../parts/cards.js'

interface QrCardProps {
  handle: string
  url: string
  name: string
}

/** The link as a code: on the screen, as files for posters and streams, and on paper. */
export function QrCard({ handle, url, name }: QrCardProps) {
  const address = url.replace(/^https?:\/\//, '')
  const file = (name: string) => (
    <a class="copy" href={`/@${handle}/${name}`} download={name}>
      {name}
    </a>
  )
  return (
    <Card name="qr" title={text.qr}>
      <figure class="printed qr">
        <figcaption class="strong">{text.tip(name)}</figcaption>
        <img src={`/@${handle}/qr.svg`} alt={text.qrOf(address)} width={240} height={240} />
        <p>{address}</p>
      </figure>
      <div class="wrap">
        {file('qr.svg')}
        {file('qr.png')}
      </div>
      <Button text={text.print} onPress={() => window.print()} />
    </Card>
  )
}
