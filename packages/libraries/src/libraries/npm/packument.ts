import type { LibraryExchange } from "../requests/exchange.ts";
import { renderDocument } from "../requests/document.ts";
import type { Rendered } from "../requests/rendering.ts";
import type { Form } from "./render.ts";
import type { FoundPackage } from "./resolve.ts";
import { packument } from "./tasks.ts";

/**
 * What a client gets of a package, rendered. `url`: that of the group's packages. Throws 404 without versions, and 409
 * when every version is blocked.
 */
export async function renderedPackage(
  exchange: LibraryExchange,
  found: FoundPackage,
  form: Form,
  url: string,
): Promise<Rendered> {
  return await renderDocument(exchange, found, {
    key: `${form} ${url}`,
    task: packument,
    extra: () => ({ form, url }),
  });
}
