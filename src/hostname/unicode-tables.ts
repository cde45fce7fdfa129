/**
 * Sets of code points, made from the Unicode Character Database 17.0.0, the version of the installed `tr46`, so that
 * no answer depends on the version of the runtime. `npx vitest run test/hostname/unicode-tables -u` makes this file.
 */

/** The general categories P, Sm, Sc and Sk without the exceptions of `idna-2008.ts`; only what UTS #46 lets through. */
export const disallowedPunctuation =
  'a1-a5 a7 ab-ac b1 b6 bb bf d7 f7 2c2-2c5 2d2-2d7 2de-2df 2e5-2eb 2ed 2ef-2ff 3f6 55a-55f 589-58a 58f 5be 5c0 5c3 ' +
  '5c6 606-60d 61b 61d-61f 66a-66d 6d4 700-70d 7f7-7f9 7fe-7ff 830-83e 85e 888 964-965 970 9f2-9f3 9fb 9fd a76 ' +
  'af0-af1 bf9 c77 c84 df4 e3f e4f e5a-e5b f04-f0a f0d-f12 f14 f3a-f3d f85 fd0-fd4 fd9-fda 104a-104f 10fb 1360-1368 ' +
  '1400 166e 169b-169c 16eb-16ed 1735-1736 17d4-17d6 17d8-17db 1800-180a 1944-1945 1a1e-1a1f 1aa0-1aa6 1aa8-1aad ' +
  '1b4e-1b4f 1b5a-1b60 1b7d-1b7f 1bfc-1bff 1c3b-1c3f 1c7e-1c7f 1cc0-1cc7 1cd3 2010 2012-2016 2018-2023 2027 ' +
  '2030-2032 2035 2038-203b 203d 203f-2046 204a-2056 2058-205e 20a0-20a7 20a9-20c1 2118 2141-2144 214b 2190-2194 ' +
  '219a-219b 21a0 21a3 21a6 21ae 21ce-21cf 21d2 21d4 21f4-222b 222e 2231-22ff 2308-230b 2320-2321 237c 239b-23b3 ' +
  '23dc-23e1 25b7 25c1 25f8-25ff 266f 2768-2775 27c0-27ff 2900-2a0b 2a0d-2a73 2a77-2adb 2add-2aff 2b30-2b44 ' +
  '2b47-2b4c 2cf9-2cfc 2cfe-2cff 2d70 2e00-2e2e 2e30-2e4f 2e52-2e5d 3001 3003 3008-3011 3014-301f 3030 303d 30a0 ' +
  'a4fe-a4ff a60d-a60f a673 a67e a6f2-a6f7 a700-a716 a720-a721 a789-a78a a838 a874-a877 a8ce-a8cf a8f8-a8fa a8fc ' +
  'a92e-a92f a95f a9c1-a9cd a9de-a9df aa5c-aa5f aade-aadf aaf0-aaf1 ab5b ab6a-ab6b abeb fbb2-fbc2 fd3e-fd3f ' +
  'fe45-fe46 10100-10102 1039f 103d0 1056f 10857 1091f 1093f 10a50-10a58 10a7f 10af0-10af6 10b39-10b3f 10b99-10b9c ' +
  '10d6e 10d8e-10d8f 10ead 10ed0 10f55-10f59 10f86-10f89 11047-1104d 110bb-110bc 110be-110c1 11140-11143 ' +
  '11174-11175 111c5-111c8 111cd 111db 111dd-111df 11238-1123d 112a9 113d4-113d5 113d7-113d8 1144b-1144f ' +
  '1145a-1145b 1145d 114c6 115c1-115d7 11641-11643 11660-1166c 116b9 1173c-1173e 1183b 11944-11946 119e2 ' +
  '11a3f-11a46 11a9a-11a9c 11a9e-11aa2 11b00-11b09 11be1 11c41-11c45 11c70-11c71 11ef7-11ef8 11f43-11f4f ' +
  '11fdd-11fe0 11fff 12470-12474 12ff1-12ff2 16a6e-16a6f 16af5 16b37-16b3b 16b44 16d6d-16d6f 16e97-16e9a 16fe2 ' +
  '1bc9f 1cef0 1da87-1da8b 1e2ff 1e5ff 1e95e-1e95f 1ecb0 1eef0-1eef1 1f8d0-1f8d8'

/** Script=Greek; only what UTS #46 lets through. */
export const greek =
  '371 373 375 377 37b-37d 390 3ac-3ce 3d7 3d9 3db 3dd 3df 3e1 3f3 3f6 3f8 3fb-3fc 1d26-1d2a 1f00-1f07 1f10-1f15 ' +
  '1f20-1f27 1f30-1f37 1f40-1f45 1f50-1f57 1f60-1f67 1f70 1f72 1f74 1f76 1f78 1f7a 1f7c 1fb0-1fb1 1fb6 1fc6 ' +
  '1fd0-1fd2 1fd6-1fd7 1fe0-1fe2 1fe4-1fe7 1ff6 ab65 10140-1018e 101a0 1d200-1d245'

/** Script=Hebrew; only what UTS #46 lets through. */
export const hebrew = '591-5c7 5d0-5ea 5ef-5f4 fb1e'

/** Script=Hiragana, Katakana or Han; only what UTS #46 lets through. */
export const kanaAndHan =
  '2e80-2e99 2e9b-2e9e 2ea0-2ef2 3005 3007 3021-3029 303b 3041-3096 309d-309e 30a1-30fa 30fd-30fe 31f0-31ff ' +
  '3400-4dbf 4e00-9fff fa0e-fa0f fa11 fa13-fa14 fa1f fa21 fa23-fa24 fa27-fa29 16fe2-16fe3 16ff0-16ff6 1aff0-1aff3 ' +
  '1aff5-1affb 1affd-1affe 1b000-1b122 1b132 1b150-1b152 1b155 1b164-1b167 20000-2a6df 2a700-2b81d 2b820-2cead ' +
  '2ceb0-2ebe0 2ebf0-2ee5d 30000-3134a 31350-33479'

/** What does not show as itself: the general categories Cc, Cf, Cs, Co and Z, and Default_Ignorable_Code_Point. */
export const invisible =
  '0-20 7f-a0 ad 34f 600-605 61c 6dd 70f 890-891 8e2 115f-1160 1680 17b4-17b5 180b-180f 2000-200f 2028-202f ' +
  '205f-206f 3000 3164 d800-f8ff fe00-fe0f feff ffa0 fff0-fffb 110bd 110cd 13430-1343f 1bca0-1bca3 1d173-1d17a ' +
  'e0000-e0fff f0000-ffffd 100000-10fffd'
