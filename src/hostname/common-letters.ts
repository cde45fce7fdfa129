import { parseRanges } from './code-point-ranges.ts'

/**
 * A fast path for international names: most of those in use need none of the tables of UTS #46.
 *
 * It takes names of letters that every version of UTS #46 leaves as they are, with digits and inner hyphens: European
 * small letters, Kana, common Han, Hangul syllables, the scripts of India, Thai, Hebrew and Arabic. It leaves capitals,
 * everything that is mapped or ignored, joiners, digits of other scripts, and rare scripts to the tables.
 *
 * Both ways agree, because what UTS #46 asks of such a name is asked here: that it is normalized (NFC), that no label
 * begins with a mark, and, where a letter is written from right to left, the Bidi rule (RFC 5893, section 2), of which
 * nothing else can fail with these characters. None of them is punctuation. Held by `test/hostname/properties.test.ts`
 * over every character; measured by `npm run bench -- hostnames`.
 *
 * @param name Lower case as far as ASCII goes; A-labels decoded.
 */
export function isCommonName(name: string): boolean {
  kinds ??= createKinds()
  let all = 0
  let before = DOT
  for (let index = 0; index < name.length; index += 1) {
    const kind = kinds[name.charCodeAt(index)] as number
    if (kind === RARE || (before === DOT && (kind & (DOT | HYPHEN | MARK)) !== 0)) return false
    if (kind === DOT && before === HYPHEN) return false
    all |= kind
    before = kind
  }
  if ((before & (DOT | HYPHEN)) !== 0 || /(?:^|\.)xn--/.test(name)) return false
  if ((all & MARK) !== 0 && name.normalize('NFC') !== name) return false
  return (all & RIGHT_TO_LEFT) === 0 || name.split('.').every(label => bidiLabel.test(label))
}

const RARE = 0
const LETTER = 1
const DIGIT = 2
const HYPHEN = 4
const DOT = 8
const MARK = 16
const RIGHT_TO_LEFT = 32

/**
 * European small letters; Armenian, Thai, Lao and Georgian; the scripts of India; Kana, common Han, Hangul syllables.
 */
const letters =
  '61-7a df-f6 f8-ff 1a1 1b0 3ac-3ce 430-45f 560-586 e01-e30 e32 e40-e46 e81-e82 e84 e86-e8a e8c-ea3 ea5 ' +
  'ea7-eb0 eb2 ebd ec0-ec4 10d0-10fa 904-939 93d 985-98c 98f-990 993-9a8 9aa-9b0 9b2 9b6-9b9 9ce a05-a0a ' +
  'a0f-a10 a13-a28 a2a-a30 a32 a35 a38-a39 a5c a85-a8d a8f-a91 a93-aa8 aaa-ab0 ab2-ab3 ab5-ab9 b05-b0c b0f-b10 ' +
  'b13-b28 b2a-b30 b32-b33 b35-b39 b71 b83 b85-b8a b8e-b90 b92-b95 b99-b9a b9c b9e-b9f ba3-ba4 ba8-baa bae-bb9 ' +
  'c05-c0c c0e-c10 c12-c28 c2a-c39 c85-c8c c8e-c90 c92-ca8 caa-cb3 cb5-cb9 d05-d0c d0e-d10 d12-d3a d7a-d7f ' +
  'd85-d96 d9a-db1 db3-dbb dbd dc0-dc6 3005 3041-3096 30a1-30fa 30fc 4e00-9fa5 ac00-d7a3'

/** Ranges in which capitals and small letters take turns, and the first is small: Latin with Vietnamese, Cyrillic. */
const everySecondLetter = '101-131 135-137 13a-13e 142-148 14b-177 17a-17e 461-481 48b-4bf 4c2-4ce 4d1-52f 1ea1-1ef9'

/** Vowels, tones and viramas of the scripts above. */
const marks =
  'e31 e34-e39 e47-e4e eb1 eb4-ebc ec8-ece 901-903 93c 93e-94d 981-983 9bc 9be-9c4 9c7-9c8 9cb-9cd a01-a03 a3c ' +
  'a3e-a42 a47-a48 a4b-a4d a70-a71 a81-a83 abe-ac5 ac7-ac9 acb-acd b01-b03 b3c b3e-b44 b47-b48 b4b-b4d b82 bbe- ' +
  'bc2 bc6-bc8 bca-bcd c01-c03 c3e-c44 c46-c48 c4a-c4d c82-c83 cbe-cc4 cc6-cc8 cca-ccd d02-d03 d3e-d44 d46-d48 ' +
  'd4a-d4d d82-d83 dca dcf-dd4 dd6 dd8-ddf'

const rightToLeft = '5d0-5ea 621-63a 641-64a 67e 686 698 6a9 6af 6c1 6cc'

/** The kind of every unit of UTF-16; made for the first international name. */
let kinds: Uint8Array | undefined

function createKinds(): Uint8Array {
  const created = new Uint8Array(0x10000)
  for (const [kind, ranges] of [
    [LETTER, letters],
    [MARK, marks],
    [RIGHT_TO_LEFT, rightToLeft],
    [DIGIT, '30-39'],
    [HYPHEN, '2d'],
    [DOT, '2e'],
  ] as const) {
    for (const [first, last] of parseRanges(ranges)) created.fill(kind, first, last + 1)
  }
  for (const [first, last] of parseRanges(everySecondLetter)) {
    for (let code = first; code <= last; code += 2) created[code] = LETTER
  }
  return created
}

/** Of a name with a label that is written from right to left: all of such letters, or all from left to right. */
const bidiLabel = /^(?:[a-z][a-z0-9-]*|[\u05d0-\u06cc][\u05d0-\u06cc0-9-]*)$/
