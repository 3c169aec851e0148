import { libraryError } from "../../../src/libraries/http/errors.ts";
import { findDocument, noteDocument, renderDocument } from "../../../src/libraries/requests/document.ts";
import type { LibraryExchange } from "../../../src/libraries/requests/exchange.ts";
import { answerFile } from "../../../src/libraries/requests/file.ts";
import type { Protocol } from "../../../src/libraries/requests/protocol.ts";
import type { Named } from "../../../src/libraries/requests/resolve.ts";
import { sendRendered } from "../../../src/libraries/requests/send-document.ts";
import { sendFile } from "../../../src/libraries/requests/send.ts";
import { factsOf } from "./facts.ts";
import { offeredToy } from "./fetch.ts";
import { offeredList } from "./offer.ts";
import { type ToyPath, toyPathOf } from "./paths.ts";
import { publishToy } from "./publish.ts";
import { toyList } from "./tasks.ts";

const TYPE = "text/plain";

/** Toys below `/toy/<group path>/-/`. */
export const toyProtocol: Protocol<ToyPath> = {
  paths: ({ segments }) => toyPathOf(segments),
  answerTo(exchange, path) {
    const { method } = exchange.req;
    if (method === "PUT" && path.version !== undefined)
      return { verb: "put", answer: () => publishToy(exchange, path) };
    if (method !== "GET") throw libraryError(405, "The method is not supported here");
    const { version } = path;
    return version === undefined
      ? { verb: "list_get", answer: () => sendList(exchange, path) }
      : { verb: "file_get", answer: () => sendToy(exchange, path, version) };
  },
};

function named({ group, name }: ToyPath): Named {
  return { group, name, normalized: name, missing: `Not found: toy ${name}` };
}

async function sendList(exchange: LibraryExchange, path: ToyPath): Promise<void> {
  const found = await findDocument(exchange, named(path), offeredList(path.name));
  const list = await renderDocument(exchange, found, { key: "", task: toyList, extra: () => ({}) });
  noteDocument(exchange, found, list);
  await sendRendered(exchange, list, { "content-type": TYPE }, { isCompressed: false });
}

async function sendToy(exchange: LibraryExchange, path: ToyPath, version: string): Promise<void> {
  await answerFile(exchange, {
    named: named(path),
    file: `${version}.toy`,
    missing: `Not found: toy ${path.name} ${version}`,
    facts: (_, kept) => kept.version && factsOf(kept.version),
    offer: (asked) => offeredToy(exchange, asked, version),
    send: (file) => sendFile(exchange, { file, contentType: TYPE }),
  });
}
