import { UsageFailure } from "./command/failure.ts";

/**
 * The URL of a server in the form in which servers name themselves: without a path or a slash at the end. Throws a
 * UsageFailure for other text.
 */
export function serverUrl(text: string): string {
  const url = URL.parse(text);
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.pathname !== "/" ||
    url.search !== "" ||
    url.hash !== "" ||
    url.username !== ""
  ) {
    throw new UsageFailure(`must be an http or https URL without a path, not ${text}`, { field: "--url" });
  }
  return url.origin;
}
