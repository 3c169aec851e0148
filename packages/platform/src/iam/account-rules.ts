import type { AccountAssociation, AccountAssociation_GitHub } from "@moorage/api/messages";
import type { FieldViolation } from "@moorage/kernel/errors";

const SERVICE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_INSTALLATIONS = 100;
const MAX_NAME_LENGTH = 255;

/**
 * The violations of an association that its fields' options do not express: those in maps, and fields that are required
 * together. Field names are relative to the association.
 */
export function accountViolations({ google, services, azure, github }: AccountAssociation): FieldViolation[] {
  const found: FieldViolation[] = [];
  const add = (field: string, description: string): void => void found.push({ field, description });
  if (google !== undefined && google.projectId === "" && google.projectNumber === "")
    add("google.projectId", "is required, or the project's number");
  for (const service of Object.keys(services?.serviceBindings ?? {})) {
    if (!SERVICE.test(service))
      add("services.serviceBindings", "must name services by 1 to 128 letters, digits, dots, dashes or underscores");
  }
  for (const [use, client] of Object.entries(azure?.clientIds ?? {})) {
    if (!SERVICE.test(use))
      add("azure.clientIds", "must be named by 1 to 128 letters, digits, dots, dashes or underscores");
    else if (!UUID.test(client)) add(`azure.clientIds.${use}`, "must be a UUID");
  }
  return github === undefined ? found : [...found, ...installationViolations(github)];
}

function installationViolations({ appInstallations }: AccountAssociation_GitHub): FieldViolation[] {
  return Object.entries(appInstallations).flatMap(([app, { installations }]) => {
    const field = `github.appInstallations.${app}`;
    if (BigInt(app) <= 0n) return [{ field, description: "must be the number of an app" }];
    if (installations.length > MAX_INSTALLATIONS)
      return [{ field, description: `must have at most ${MAX_INSTALLATIONS} entries` }];
    const ids = installations.map(({ installationId }) => installationId);
    return installations.flatMap(({ installationId, name }, at) => {
      const path = `${field}.installations[${at}]`;
      if (installationId <= 0n)
        return [{ field: `${path}.installationId`, description: "must be the number of an installation" }];
      if (ids.indexOf(installationId) !== at)
        return [{ field: `${path}.installationId`, description: "is a duplicate" }];
      if (name.length <= MAX_NAME_LENGTH && !name.includes("\0")) return [];
      return [{ field: `${path}.name`, description: `must be a text of at most ${MAX_NAME_LENGTH} characters` }];
    });
  });
}
