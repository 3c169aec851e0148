import { checkedUrl, FetchError, type FetchOptions } from "./guarded-fetch.ts";

/**
 * What is wrong with a URL that a user has the server ask, for the violation of its field; undefined when nothing is.
 * The rules are those of the guarded fetch. A host name is not resolved: its addresses are checked at each request.
 */
export function urlFault(text: string, rules: Pick<FetchOptions, "allowPrivateNetwork">): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return "must be an http or https URL";
  if (url.username !== "" || url.password !== "")
    return "must not hold a user name or password: they have fields of their own";
  // `URL` does not show an empty query or fragment.
  if (/[?#]/.test(text)) return "must not hold a query or a fragment";
  try {
    checkedUrl(text, rules);
    return undefined;
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    return url.protocol === "http:" ? "must be an https URL" : "must not lead to an address that is not a public one";
  }
}
