import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { REGISTRY_CHECKS } from "./checks.ts";
import { REGISTRY_TABLES } from "./tables.ts";
import { ReposService, ImagesService, SearchService, StorageService } from "@moorage/api/messages";
import { served } from "@moorage/kernel/core/service";
import { reposService } from "./repos.ts";
import { imagesService } from "./images.ts";
import { searchService } from "./search/service.ts";
import { storageService } from "./storage/service.ts";
import { registryCommands } from "./commands.ts";

export const registryArea: Area = {
  name: "registry",
  tables: REGISTRY_TABLES,
  below: { group: { hindrances: countedBelow({ repos: "repos" }) } },
  checks: REGISTRY_CHECKS,
  services: [
    served(ReposService, reposService),
    served(ImagesService, imagesService),
    served(SearchService, searchService),
    served(StorageService, storageService),
  ],
  commands: registryCommands,
};
