/** One part in PEM, and nothing else. Source: RFC 7468. */
const CERTIFICATE = /^\s*-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/;
const LIST = /^\s*-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+)-----END X509 CRL-----\s*$/;

/** The DER of a certificate in PEM; empty for other text. */
export function pemToDer(pem: string): Buffer {
  return derIn(CERTIFICATE.exec(pem));
}

/** The DER of a list of revoked certificates in PEM; empty for other text. */
export function listToDer(pem: string): Buffer {
  return derIn(LIST.exec(pem));
}

function derIn(found: RegExpExecArray | null): Buffer {
  return Buffer.from((found?.[1] ?? "").replaceAll(/\s/g, ""), "base64");
}
