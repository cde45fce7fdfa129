import { toALabels } from '../idna/labels.ts'
import { readSuffix } from '../public-suffix.ts'

/**
 * Providers of mail for everybody, of 2026-11-28, selected by hand: each is in `free-email-domains` 1.12.6 or in
 * `email-providers` 2.26.0 on npm. Those lists are made for sign-up forms: they also have thousands of disposable
 * addresses, companies, and even `example.com` and `name.com`.
 *
 * These use their name below many suffixes: `yahoo.com`, `yahoo.co.jp`.
 */
const brands = new Set(
  (
    'aol fastmail gmail gmx googlemail hotmail icloud inbox live mailbox msn outlook posteo proton protonmail ' +
    'rediffmail rocketmail tuta tutanota yahoo yandex ymail yopmail zoho'
  ).split(' '),
)

const providers = new Set(
  (
    '126.com 139.com 163.com 189.cn abv.bg alice.it aliyun.com arcor.de att.net bigpond.com bk.ru bluewin.ch ' +
    'btinternet.com centrum.cz charter.net comcast.net cox.net daum.net docomo.ne.jp duck.com earthlink.net email.cz ' +
    'ezweb.ne.jp foxmail.com free.fr freenet.de hanmail.net hey.com home.nl hushmail.com i.ua ig.com.br interia.pl ' +
    'internode.on.net juno.com kpnmail.nl laposte.net libero.it list.ru mac.com mail.com mail.de mail.ru ' +
    'me.com mindspring.com nate.com naver.com neuf.fr ntlworld.com o2.pl online.de online.no onet.pl op.pl ' +
    'optonline.net optusnet.com.au orange.fr pm.me qq.com rambler.ru rogers.com sapo.pt sbcglobal.net ' +
    'seznam.cz sfr.fr shaw.ca sina.cn sina.com skynet.be sky.com sohu.com softbank.ne.jp sympatico.ca t-online.de ' +
    'talktalk.net telenet.be telus.net terra.com.br tiscali.it tlen.pl ukr.net uol.com.br verizon.net ' +
    'videotron.ca virgilio.it virginmedia.com walla.co.il wanadoo.fr web.de wp.pl xs4all.nl xtra.co.nz ' +
    'ya.ru yeah.net ziggo.nl'
  ).split(' '),
)

/** Returns whether the addresses at a host belong to many: it is a provider of mail, or below a private suffix. */
export function isMailProvider(host: string): boolean {
  const name = toALabels(host.trim().replace(/\.$/, ''))
  if (typeof name !== 'string') return false
  const { isPrivate, registrableDomain } = readSuffix(name)
  if (isPrivate) return true
  return (
    registrableDomain !== null &&
    (brands.has(registrableDomain.replace(/\..*/s, '')) || providers.has(registrableDomain))
  )
}
