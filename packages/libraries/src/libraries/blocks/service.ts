import { BlockSchema, BlocksService } from "@moorage/api/messages";
import { columnIsIfSet, listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { layoutOf } from "@moorage/kernel/core/stored-answer";

const LIST = storedListOf(
  {
    method: BlocksService.method.listBlocks,
    table: "artifact_blocks",
    defaultOrder: "lastTime desc",
    orderBy: sortable("last_time", "first_time", "name", "count", "uid"),
  },
  layoutOf(BlockSchema),
);

/** What policies have kept from clients. */
export function blocksService({ pageTokenKey }: ServiceContext): Service<typeof BlocksService> {
  return {
    listBlocks: (call, request) =>
      listStored(call, pageTokenKey, LIST, request, {
        filters: ({ ecosystem, name, identity, reason, mode }) => [
          ...columnIsIfSet("ecosystem", ecosystem),
          ...columnIsIfSet("name", name),
          ...columnIsIfSet("identity", identity),
          ...columnIsIfSet("reason", reason),
          ...columnIsIfSet("mode", mode),
        ],
      }),
  };
}
