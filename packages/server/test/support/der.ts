// DER by hand, for certificates and tokens that node:crypto does not make. Source: X.690.

/** One element; contents of up to 16 MiB. */
export function der(tag: number, content: Uint8Array | string): Buffer {
  const { length } = Buffer.from(content as string);
  const size =
    length < 0x80
      ? [length]
      : length < 0x100
        ? [0x81, length]
        : length < 0x1_0000
          ? [0x82, length >> 8, length & 0xff]
          : [0x83, length >> 16, (length >> 8) & 0xff, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), Buffer.from(content as string)]);
}

export function sequence(...parts: Uint8Array[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

export function set(...parts: Uint8Array[]): Buffer {
  return der(0x31, Buffer.concat(parts));
}

export function octets(content: Uint8Array): Buffer {
  return der(0x04, content);
}

/** A whole number from 0 on. */
export function integer(value: number | bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  return der(0x02, (bytes[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** Bits, the first of them first, without zeros at the end. */
export function bits(set: readonly number[]): Buffer {
  const bytes = Buffer.alloc(1 + (Math.max(0, ...set) >> 3));
  for (const bit of set) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return der(0x03, Buffer.concat([Buffer.from([7 - (Math.max(0, ...set) & 7)]), bytes]));
}

export function bitString(content: Uint8Array): Buffer {
  return der(0x03, Buffer.concat([Buffer.from([0]), content]));
}

/** An object identifier in dots. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second, ...others].flatMap((arc) => {
    const parts = [arc & 0x7f];
    for (let rest = arc >>> 7; rest > 0; rest >>>= 7) parts.unshift((rest & 0x7f) | 0x80);
    return parts;
  });
  return der(0x06, Buffer.from(bytes));
}

const digits = (ms: number): string => new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");

/** A UTCTime, of milliseconds since 1970. */
export function utcTime(ms: number): Buffer {
  return der(0x17, digits(ms).slice(2));
}

/** A GeneralizedTime, of milliseconds since 1970, to the second. */
export function generalizedTime(ms: number): Buffer {
  return der(0x18, digits(ms));
}

/** The DER in PEM. */
export function pem(content: Uint8Array, what = "CERTIFICATE"): string {
  const lines =
    Buffer.from(content)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${what}-----\n${lines.join("\n")}\n-----END ${what}-----\n`;
}
