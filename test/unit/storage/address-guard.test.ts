import { isPublicAddress } from '../../../src/storage/address-guard';

describe('isPublicAddress', () => {
  it.each(['93.184.216.34', '8.8.8.8', '2606:4700:4700::1111', '::ffff:8.8.8.8'])('takes %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ['this machine', '127.0.0.1'],
    ['this machine', '127.9.9.9'],
    ['this machine', '::1'],
    ['any address', '0.0.0.0'],
    ['any address', '::'],
    ['a private network', '10.1.2.3'],
    ['a private network', '172.16.0.1'],
    ['a private network', '192.168.1.1'],
    ['a private network', 'fd00::1'],
    ['the metadata of a cloud', '169.254.169.254'],
    ['the metadata of a cloud', 'fd00:ec2::254'],
    ['the metadata of a cloud', '100.100.100.200'],
    ['a link', 'fe80::1'],
    ['a provider network', '100.64.0.1'],
    ['many machines', '224.0.0.1'],
    ['many machines', 'ff02::1'],
    ['everyone', '255.255.255.255'],
    ['nobody', '240.0.0.1'],
    ['IPv4 inside IPv6', '::ffff:127.0.0.1'],
    ['IPv4 inside IPv6', '::ffff:a00:1'],
    ['IPv4 inside IPv6', '64:ff9b::7f00:1'],
    ['IPv4 inside IPv6', '2002:7f00:1::'],
    ['no address', ''],
    ['no address', 'localhost'],
  ])('refuses the address of %s, %s', (_whose, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
