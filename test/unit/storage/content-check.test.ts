import { describeMismatch, hasOwnEnd } from '../../../src/storage/content-check';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const jpeg = Buffer.from('ffd8ffe000104a464946', 'hex');
const page = Buffer.from('\uFEFF\n<!DOCTYPE html><title>Sign in</title>');
const json = Buffer.from('{"code":50000}');
const utf16 = Buffer.from('\uFEFF<html>', 'utf16le');

function hex(digits: string): Buffer {
  return Buffer.from(digits.replaceAll(' ', ''), 'hex');
}

describe('a content', () => {
  it.each<[string, string, Buffer, string | undefined]>([
    ['a picture', 'a.png', png, 'image/png'],
    ['a picture under the name of another picture', 'a.png', jpeg, undefined],
    ['a picture whose storage calls everything a page', 'a.PNG', png, 'text/html'],
    ['a page that should be one', 'a.html', page, 'text/html'],
    ['JSON that should be JSON', 'a.json', json, 'application/json'],
    ['a drawing', 'a.svg', Buffer.from('<?xml version="1.0"?><svg/>'), 'image/svg+xml'],
    ['an unknown type', 'a.safetensors', json, 'application/json'],
    ['a name without an extension', 'a', page, undefined],
    ['a text without a byte', 'a.txt', Buffer.alloc(0), undefined],
    ['MP3 without a tag', 'a.mp3', Buffer.from('00fffb9064', 'hex'), 'audio/mpeg'],
    ['a segment of MP4', '.mp4', hex('00000018 73747970 6d736468'), 'video/mp4'],
    ['a fragment of MP4', '.mp4', hex('00000018 6d6f6f66 6d736468'), 'video/mp4'],
    ['QuickTime with a preview', '.mov', hex('00000014 706e6f74 00000000'), 'video/quicktime'],
    ['MP4 with a box of its own first', '.mp4', hex('00000018 75756964 00000000'), 'video/mp4'],
    ['WAV of BW64', '.wav', hex('42573634 ffffffff 57415645'), 'audio/wav'],
    ['WAV of RIFX', '.wav', hex('52494658 00000010 57415645'), 'audio/wav'],
    ['WAV of 64 bits', '.wav', hex('72696666 2e91cf11 a5d628db'), 'audio/wav'],
    ['AIFF under the name of WAV', '.wav', hex('464f524d 00000010 41494646'), 'audio/wav'],
    ['MP3 behind an APE tag', '.mp3', Buffer.from('APETAGEX\0\0\0\0'), 'audio/mpeg'],
    ['AAC of ADIF', '.aac', Buffer.from('ADIF....'), 'audio/aac'],
    ['WebM under the name of a GIF', '.gif', hex('1a45dfa3 0100'), 'image/gif'],
    ['a moving WebP under a video’s name', '.mp4', hex('52494646 00000010 57454250'), 'image/webp'],
    ['a GIF under a video’s name', '.mp4', Buffer.from('GIF89a...'), 'image/gif'],
    ['a transport stream', '.mp4', Buffer.concat([hex('47400010'), Buffer.alloc(184), hex('47')]), 'video/mp4'],
    ['a form of its type that nobody knows here', '.mp4', hex('00112233 44556677 8899aabb'), 'video/mp4'],
    ['subtitles without a word', '.srt', Buffer.alloc(0), 'text/plain'],
    ['subtitles of another kind without a word', '.ass', Buffer.alloc(0), 'text/plain'],
    ['JSON of another kind', '.json5', Buffer.from('{a:1}'), 'application/json'],
    ['a script without a line', '.sql', Buffer.alloc(0), 'text/plain'],
    ['settings without a line', '.toml', Buffer.alloc(0), 'text/plain'],
  ])('is taken: %s', (_what, name, head, mediaType) => {
    expect(describeMismatch({ name, head, mediaType })).toBeUndefined();
  });

  it.each<[string, string, Buffer, string | undefined]>([
    ['a page under a picture’s name', 'a.png', page, 'text/html; charset=utf-8'],
    ['a page that is called a picture', 'a.jpg', page, 'image/jpeg'],
    ['a page in UTF-16', 'a.mp3', utf16, undefined],
    ['a message under a video’s name', '.mp4', json, 'application/json'],
    ['plain words', '.webp', Buffer.from('Access denied'), 'text/plain'],
    ['a picture under a video’s name', '.mp4', png, undefined],
    ['a page under an archive’s name', '.zip', page, undefined],
    ['a message under a model’s name', '.glb', json, 'application/problem+json'],
    ['no byte', '.png', Buffer.alloc(0), 'image/png'],
    ['no byte of an unknown type', '.safetensors', Buffer.alloc(0), undefined],
    ['a message under an archive’s name, called text', '.zip', Buffer.from('{"code":1}'), 'text/plain'],
    ['a message under a model’s name, called bytes', '.glb', Buffer.from('{"code":1}'), 'binary/octet-stream'],
    ['a message under a document’s name', '.pdf', Buffer.from('{"code":1}'), undefined],
    ['words under a drawing’s name', '.psd', Buffer.from('denied'), undefined],
    ['words under another name of a JPEG', '.jfif', Buffer.from('denied'), 'text/plain'],
    ['a message under a moving picture’s name', '.apng', Buffer.from('{"code":1}'), 'text/plain'],
    ['a part of a page', '.zip', Buffer.from('<body>x'), 'text/plain'],
    ['a page behind a comment', '.glb', Buffer.from('<!-- x --><html>'), 'application/octet-stream'],
    ['a storage’s refusal, called bytes', '.zip', Buffer.from('<Error><Code>NoSuchKey'), 'application/octet-stream'],
  ])('is refused: %s', (_what, name, head, mediaType) => {
    expect(describeMismatch({ name, head, mediaType })).toEqual(expect.any(String));
  });

  it('that is compressed is known by its header alone', () => {
    const head = Buffer.from('1f8b0800', 'hex');
    expect(describeMismatch({ name: '.png', head, contentEncoding: 'gzip', mediaType: 'image/png' })).toBeUndefined();
    expect(describeMismatch({ name: '.png', head, contentEncoding: 'gzip', mediaType: 'text/html' })).toBeDefined();
  });
});

describe('the end that a format needs', () => {
  const tail = Buffer.alloc(10);
  it.each<[string, Buffer, Buffer, boolean | undefined]>([
    ['is not told by WAV that was written as it came', hex('52494646 ffffffff 57415645'), tail, undefined],
    ['is not told by WAV without a length', hex('52494646 00000000 57415645'), tail, undefined],
    ['is not told by a few bytes', Buffer.from('RIFF'), tail, undefined],
    ['is that of a GIF behind which zeros stand', Buffer.from('GIF89a......'), hex('003b0000'), true],
    ['is missing in half a WAV', hex('52494646 00100000 57415645'), tail, false],
    ['is missing in half a GIF', Buffer.from('GIF89a......'), tail, false],
  ])('%s', (_what, head, end, isThere) => {
    expect(hasOwnEnd(head, end, 1_000)).toBe(isThere);
  });
});
