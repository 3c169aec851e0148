/** One certificate in PEM, and nothing else. Source: RFC 7468. */
const PEM = /^\s*-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/;

/** The DER of a certificate in PEM; empty for other text. */
export function pemToDer(pem: string): Buffer {
  return Buffer.from((PEM.exec(pem)?.[1] ?? "").replaceAll(/\s/g, ""), "base64");
}
