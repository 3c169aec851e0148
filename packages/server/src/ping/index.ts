export { pingArea } from "./area.ts";
