// The services and functions of security that other features use.
export { writeLookups } from "./advisories/lookups.ts";
export { advisoriesService } from "./advisories/service.ts";
