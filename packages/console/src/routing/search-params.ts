/** The state of a page in its URL: names with one text each. */
export type SearchParams = Readonly<Record<string, string>>;

/** The parameters of a query string. Of a name that is there twice the last counts. */
export function parseSearch(text: string): SearchParams {
  return Object.fromEntries(new URLSearchParams(text));
}

/** The query string, in which the characters of image names stay readable. Empty values are left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const parts = Object.entries(search)
    .filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => `${encodeURIComponent(name)}=${readable(String(value))}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

// RFC 3986 allows these in a query.
function readable(value: string): string {
  return encodeURIComponent(value).replaceAll(/%(?:2F|3A|40|2C)/g, decodeURIComponent);
}

/** Takes the named parameters out of what the URL has, for `validateSearch` of a route; others are dropped. */
export function pick<Name extends string>(
  ...names: readonly Name[]
): (search: Record<string, unknown>) => Partial<Record<Name, string>> {
  return (search) => {
    const found: Partial<Record<Name, string>> = {};
    for (const name of names) if (typeof search[name] === "string" && search[name] !== "") found[name] = search[name];
    return found;
  };
}
