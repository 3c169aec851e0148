import type { CallData } from "@moorage/kernel/core/call";

/**
 * Further grants of the token endpoint, by grant_type, beside those of `parseTokenRequest`. They answer the body and
 * throw OAuthErrors.
 */
export type TokenGrants = Readonly<
  Record<string, (form: URLSearchParams, data: CallData) => Promise<Record<string, unknown>>>
>;
