// `moorage tags resolve`: the reference of an image by its digest.
import { pin } from "../api/image-digest.ts";
import { textIn } from "../api/json-fields.ts";
import { formatOf } from "../output/format.ts";
import { printItem } from "../output/output.ts";
import { createWriter } from "../output/writer.ts";
import { registryHost } from "../registry-host.ts";
import { openSession, type TaskFlags } from "./session.ts";

/** Prints `host/acme/app@sha256:…` for each image; as JSON the tag, or the move that made it point there. */
export async function resolveImages(references: readonly string[], flags: TaskFlags): Promise<void> {
  const session = await openSession(flags);
  const { kind } = formatOf(flags);
  const isText = ["table", "wide", "name"].includes(kind);
  const host = isText ? await registryHost(session.rest.url) : "";
  const writer = createWriter();
  for (const reference of references) {
    const { name, digest, source } = await pin(session, await session.names.imageOf(reference));
    if (isText) await writer.write(`${host}/${name}@${digest}\n`);
    else
      await printItem(
        source ?? { digest },
        {
          field: "tags",
          columns: [{ header: "DIGEST", value: (item) => textIn(item, "digest") }],
          nameOf: () => `${name}@${digest}`,
          idOf: () => digest,
        },
        flags,
      );
  }
  await writer.flush();
}
