/** When the token ended, if that is past by this machine's clock; undefined for a good one, and for other text. */
export function endOf(token: string): string | undefined {
  try {
    const endMs = Number(claimsOf(token)["exp"]) * 1000;
    return endMs <= Date.now() ? new Date(endMs).toISOString() : undefined;
  } catch {
    return undefined;
  }
}

/** The claims of a Moorage token, without verification: only the server verifies it. Throws an Error for other text. */
export function claimsOf(token: string): Record<string, unknown> {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    if (typeof claims === "object" && claims !== null) return claims as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new Error("the token is no access token of a Moorage server");
}

/** The identity that the token is of; undefined for none, and for other text. */
export function subjectOf(token: string): string | undefined {
  try {
    const { sub } = claimsOf(token);
    return typeof sub === "string" ? sub : undefined;
  } catch {
    return undefined;
  }
}
