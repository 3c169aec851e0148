import { bodyOf } from "../../../../registry/src/oci/index.ts";
import { receiveFile } from "../../../src/libraries/http/receive.ts";
import type { LibraryExchange } from "../../../src/libraries/requests/exchange.ts";
import { answerPublish } from "../../../src/libraries/requests/publish.ts";
import { send } from "../../../src/libraries/requests/send.ts";
import type { ToyPath } from "./paths.ts";

export async function publishToy(exchange: LibraryExchange, { group, name, version = "" }: ToyPath): Promise<void> {
  const { blobs } = exchange.deps;
  await answerPublish(exchange, group, {
    async take() {
      const received = await receiveFile(blobs, bodyOf(exchange), { maxBytes: 1_000 });
      return {
        received,
        async describe({ digest, generation }) {
          const text = Buffer.from(await blobs.readWhole(digest, generation)).toString();
          const [license = ""] = text.split("\n");
          return {
            name,
            normalized: name,
            version,
            description: "a toy",
            metadata: JSON.stringify({ license }),
            file: { name: `${version}.toy` },
          };
        },
      };
    },
    done: () => send(exchange, 201, {}, Buffer.alloc(0)),
  });
}
