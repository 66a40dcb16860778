import { useRef } from 'preact/hooks'
import { pageWords as text } from '../../i18n/dashboard/page.js'
import { Button } from '../../ui/kit.js'
import type { OwnPage } from '../answers.js'
import { call, request } from '../api.js'
import { Card } from '../parts/cards.js'
import { FaultNotice } from '../parts/notices.js'
import { useSubmit } from '../requests.js'

export type Page = OwnPage['page']

/** A part of the screen that changes the page. */
export interface Part {
  readonly page: Page
  readonly onSaved: (answer: OwnPage) => void
}

const path = '/creators/page/picture'
/** A photo of a phone has several megabytes, most of which the page never shows. */
const shrunkFrom = 500_000
const longestSide = 1024

/** The picture of the page. The service makes it small and forgets where it was taken. */
export function PictureCard({ page, onSaved }: Part) {
  const chooser = useRef<HTMLInputElement>(null)
  const send = useSubmit(async (file: Blob) => {
    const answer = await request('PUT', path, { file: await shrink(file) })
    onSaved((await answer.json()) as OwnPage)
  })
  const remove = useSubmit(async () => {
    await call('DELETE', path)
    onSaved({ success: true, page: { ...page, pictureUrl: null } })
  })
  return (
    <Card name="picture" title={text.picture}>
      {page.pictureUrl !== null && (
        <img class="picture" src={page.pictureUrl} alt={text.pictureOf(page.name)} width={128} height={128} />
      )}
      <input
        ref={chooser}
        hidden
        type="file"
        accept="image/png,image/jpeg,image/webp"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          currentTarget.value = ''
          if (file !== undefined) send.run(file)
        }}
      />
      <Button
        busy={send.busy}
        text={page.pictureUrl === null ? text.choosePicture : text.otherPicture}
        onPress={() => chooser.current?.click()}
      />
      <p class="quiet" role="status">
        {send.busy ? text.sending : text.pictureHint}
      </p>
      <FaultNotice fault={send.fault ?? remove.fault} />
      {page.pictureUrl !== null && <Button does={remove} text={text.removePicture} />}
    </Card>
  )
}

/** The same picture with at most `longestSide` pixels a side. The file itself where the browser cannot read it. */
async function shrink(file: Blob): Promise<Blob> {
  if (file.size < shrunkFrom) return file
  const picture = await createImageBitmap(file).catch(() => undefined)
  if (picture === undefined) return file
  const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(picture.width * scale))
  canvas.height = Math.max(1, Math.round(picture.height * scale))
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  return new Promise((done) => canvas.toBlob((small) => done(small ?? file), 'image/webp', 0.9))
}
