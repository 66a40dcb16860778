const lineWidth = 95
const linesPerPage = 60
const lineHeight = 12
const top = 800
const left = 50

/** Lines of text as a PDF file in Courier. Characters that its encoding lacks are written as `?`. */
export function pdfOf(text: readonly string[]): Uint8Array {
  const lines = text.flatMap(wrap)
  const pages: string[][] = []
  for (let start = 0; start < Math.max(lines.length, 1); start += linesPerPage)
    pages.push(lines.slice(start, start + linesPerPage))
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' ')
  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>',
    ...pages.flatMap((page, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * index} 0 R >>`,
      stream(page),
    ]),
  ])
}

function wrap(line: string): string[] {
  const printable = line.normalize('NFC').replace(/[^\x20-\x7e\xa0-\xff]/gu, '?')
  const parts: string[] = []
  for (let start = 0; start < Math.max(printable.length, 1); start += lineWidth)
    parts.push(printable.slice(start, start + lineWidth))
  return parts
}

function stream(lines: readonly string[]): string {
  const shown = lines.map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`)
  const content = `BT /F1 10 Tf ${lineHeight} TL ${left} ${top} Td\n${shown.join('\n')}\nET`
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`
}

/** The objects, numbered from 1, and the table of where each begins. */
function assemble(objects: readonly string[]): Uint8Array {
  let file = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  file += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  return Buffer.from(file, 'latin1')
}
