import { pathToFileURL } from "node:url";
import { type Plugin, RolldownMagicString } from "rolldown";

/** What `import.meta.url` is in the module at this path of this machine, as an expression. */
export type AddressOf = (path: string) => string;

const asSource: AddressOf = (path) => JSON.stringify(pathToFileURL(path).href);

/**
 * Modules of packages/ keep an address of their own in a bundle, whose parts have others: they find the files beside
 * them, such as the console, by `import.meta.url`.
 */
export function addresses(addressOf: AddressOf = asSource): Plugin {
  return {
    name: "addresses",
    transform: {
      filter: { id: /\/packages\/\w+\/src\/.*\.ts$/, code: "import.meta.url" },
      handler(code, id) {
        const changed = new RolldownMagicString(code);
        changed.replaceAll("import.meta.url", addressOf(id));
        return { code: changed.toString(), map: changed.generateMap({ hires: "boundary" }).toString() };
      },
    },
  };
}
