import { describeMismatch } from '../../../src/storage/content-check';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const jpeg = Buffer.from('ffd8ffe000104a464946', 'hex');
const page = Buffer.from('\uFEFF\n<!DOCTYPE html><title>Sign in</title>');
const json = Buffer.from('{"code":50000}');
const utf16 = Buffer.from('\uFEFF<html>', 'utf16le');

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
  ])('is refused: %s', (_what, name, head, mediaType) => {
    expect(describeMismatch({ name, head, mediaType })).toEqual(expect.any(String));
  });

  it('that is compressed is known by its header alone', () => {
    const head = Buffer.from('1f8b0800', 'hex');
    expect(describeMismatch({ name: '.png', head, contentEncoding: 'gzip', mediaType: 'image/png' })).toBeUndefined();
    expect(describeMismatch({ name: '.png', head, contentEncoding: 'gzip', mediaType: 'text/html' })).toBeDefined();
  });
});
