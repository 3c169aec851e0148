// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of AccountAssociationsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.iam.v2.AccountAssociationsService/GetAccountAssociation",
    verb: "get",
    kind: "get",
    http: "GET",
    path: "/iam/v2/accountAssociations/{uid=**}",
    reads: true,
    summary: "show the association of one group",
    help: "Show the association of one group.",
    arguments: [
      {
        form: "ref",
        name: "association",
        kind: "association",
        fields: ["uid"],
        required: true,
      },
    ],
    flags: [],
    response: [
      {
        name: "uid",
        type: "string",
        output: true,
        help: "The group's own uid.",
      },
      {
        name: "name",
        type: "string",
        help: "What the association is called.",
      },
      {
        name: "description",
        type: "string",
        help: "What it is for.",
      },
      {
        name: "amazon",
        type: "message",
        help: "The account at Amazon.",
      },
      {
        name: "google",
        type: "message",
        help: "The project at Google.",
      },
      {
        name: "services",
        type: "message",
        help: "What services act as.",
      },
      {
        name: "azure",
        type: "message",
        help: "The tenant at Azure.",
      },
      {
        name: "createTime",
        type: "timestamp",
        output: true,
        help: "When it was made.",
      },
      {
        name: "updateTime",
        type: "timestamp",
        output: true,
        help: "When it was last changed.",
      },
      {
        name: "github",
        type: "message",
        help: "The installations at GitHub.",
      },
    ],
    items: "accountAssociations",
  },
  {
    method: "moorage.iam.v2.AccountAssociationsService/ListAccountAssociations",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/iam/v2/accountAssociations",
    reads: true,
    summary: "show the associations you may list",
    help: "Show the associations you may list.",
    arguments: [],
    flags: [
      {
        name: "name",
        type: "string",
        help: "Exactly this name.",
      },
    ],
    uidp: true,
    paged: "token",
    response: [
      {
        name: "uid",
        type: "string",
        output: true,
        help: "The group's own uid.",
      },
      {
        name: "name",
        type: "string",
        help: "What the association is called.",
      },
      {
        name: "description",
        type: "string",
        help: "What it is for.",
      },
      {
        name: "amazon",
        type: "message",
        help: "The account at Amazon.",
      },
      {
        name: "google",
        type: "message",
        help: "The project at Google.",
      },
      {
        name: "services",
        type: "message",
        help: "What services act as.",
      },
      {
        name: "azure",
        type: "message",
        help: "The tenant at Azure.",
      },
      {
        name: "createTime",
        type: "timestamp",
        output: true,
        help: "When it was made.",
      },
      {
        name: "updateTime",
        type: "timestamp",
        output: true,
        help: "When it was last changed.",
      },
      {
        name: "github",
        type: "message",
        help: "The installations at GitHub.",
      },
    ],
    items: "accountAssociations",
    aliases: ["ls"],
  },
  {
    method: "moorage.iam.v2.AccountAssociationsService/CreateAccountAssociation",
    verb: "create",
    kind: "create",
    http: "POST",
    path: "/iam/v2/accountAssociations/{parent=**}",
    body: "accountAssociation",
    reads: false,
    summary: "make the one association of a group",
    help: "Make the one association of a group.",
    arguments: [
      {
        form: "ref",
        name: "group",
        kind: "group",
        fields: ["parent"],
        required: true,
      },
    ],
    flags: [
      {
        name: "name",
        type: "string",
        help: "What the association is called.",
      },
      {
        name: "description",
        type: "string",
        help: "What it is for.",
      },
      {
        name: "amazon",
        type: "message",
        help: "The account at Amazon.",
        fields: [
          {
            name: "account",
            type: "string",
            required: true,
            help: "Its number.",
          },
        ],
      },
      {
        name: "google",
        type: "message",
        help: "The project at Google.",
        fields: [
          {
            name: "projectId",
            type: "string",
            help: "Its id.",
          },
          {
            name: "projectNumber",
            type: "string",
            help: "Its number.",
          },
        ],
      },
      {
        name: "services",
        type: "message",
        help: "What services act as.",
        fields: [
          {
            name: "serviceBindings",
            type: "map",
            help: "Service name to the uid of an identity of this organization.",
            valueType: "string",
          },
        ],
      },
      {
        name: "azure",
        type: "message",
        help: "The tenant at Azure.",
        fields: [
          {
            name: "tenantId",
            type: "string",
            required: true,
            help: "Its UUID.",
          },
          {
            name: "clientIds",
            type: "map",
            help: "What a client is for, to the client's UUID.",
            valueType: "string",
          },
        ],
      },
      {
        name: "github",
        type: "message",
        help: "The installations at GitHub.",
        fields: [
          {
            name: "appInstallations",
            type: "map",
            help: "The app's number to its installations.",
            fields: [
              {
                name: "installations",
                type: "message",
                repeated: true,
                help: "Each once.",
              },
            ],
            valueType: "message",
          },
        ],
      },
    ],
    dryRun: true,
    response: [
      {
        name: "uid",
        type: "string",
        output: true,
        help: "The group's own uid.",
      },
      {
        name: "name",
        type: "string",
        help: "What the association is called.",
      },
      {
        name: "description",
        type: "string",
        help: "What it is for.",
      },
      {
        name: "amazon",
        type: "message",
        help: "The account at Amazon.",
      },
      {
        name: "google",
        type: "message",
        help: "The project at Google.",
      },
      {
        name: "services",
        type: "message",
        help: "What services act as.",
      },
      {
        name: "azure",
        type: "message",
        help: "The tenant at Azure.",
      },
      {
        name: "createTime",
        type: "timestamp",
        output: true,
        help: "When it was made.",
      },
      {
        name: "updateTime",
        type: "timestamp",
        output: true,
        help: "When it was last changed.",
      },
      {
        name: "github",
        type: "message",
        help: "The installations at GitHub.",
      },
    ],
    items: "accountAssociations",
  },
  {
    method: "moorage.iam.v2.AccountAssociationsService/UpdateAccountAssociation",
    verb: "update",
    kind: "update",
    http: "PATCH",
    path: "/iam/v2/accountAssociations/{accountAssociation.uid=**}",
    body: "accountAssociation",
    reads: false,
    summary: "change the fields that flags or a file name",
    help: "Change the fields that flags or a file name.",
    arguments: [
      {
        form: "ref",
        name: "association",
        kind: "association",
        fields: ["accountAssociation.uid"],
        required: true,
      },
    ],
    flags: [
      {
        name: "name",
        type: "string",
        help: "What the association is called.",
      },
      {
        name: "description",
        type: "string",
        help: "What it is for.",
      },
      {
        name: "amazon",
        type: "message",
        help: "The account at Amazon.",
        fields: [
          {
            name: "account",
            type: "string",
            required: true,
            help: "Its number.",
          },
        ],
      },
      {
        name: "google",
        type: "message",
        help: "The project at Google.",
        fields: [
          {
            name: "projectId",
            type: "string",
            help: "Its id.",
          },
          {
            name: "projectNumber",
            type: "string",
            help: "Its number.",
          },
        ],
      },
      {
        name: "services",
        type: "message",
        help: "What services act as.",
        fields: [
          {
            name: "serviceBindings",
            type: "map",
            help: "Service name to the uid of an identity of this organization.",
            valueType: "string",
          },
        ],
      },
      {
        name: "azure",
        type: "message",
        help: "The tenant at Azure.",
        fields: [
          {
            name: "tenantId",
            type: "string",
            required: true,
            help: "Its UUID.",
          },
          {
            name: "clientIds",
            type: "map",
            help: "What a client is for, to the client's UUID.",
            valueType: "string",
          },
        ],
      },
      {
        name: "github",
        type: "message",
        help: "The installations at GitHub.",
        fields: [
          {
            name: "appInstallations",
            type: "map",
            help: "The app's number to its installations.",
            fields: [
              {
                name: "installations",
                type: "message",
                repeated: true,
                help: "Each once.",
              },
            ],
            valueType: "message",
          },
        ],
      },
    ],
    dryRun: true,
    masked: true,
    response: [
      {
        name: "uid",
        type: "string",
        output: true,
        help: "The group's own uid.",
      },
      {
        name: "name",
        type: "string",
        help: "What the association is called.",
      },
      {
        name: "description",
        type: "string",
        help: "What it is for.",
      },
      {
        name: "amazon",
        type: "message",
        help: "The account at Amazon.",
      },
      {
        name: "google",
        type: "message",
        help: "The project at Google.",
      },
      {
        name: "services",
        type: "message",
        help: "What services act as.",
      },
      {
        name: "azure",
        type: "message",
        help: "The tenant at Azure.",
      },
      {
        name: "createTime",
        type: "timestamp",
        output: true,
        help: "When it was made.",
      },
      {
        name: "updateTime",
        type: "timestamp",
        output: true,
        help: "When it was last changed.",
      },
      {
        name: "github",
        type: "message",
        help: "The installations at GitHub.",
      },
    ],
    items: "accountAssociations",
  },
  {
    method: "moorage.iam.v2.AccountAssociationsService/DeleteAccountAssociation",
    verb: "delete",
    kind: "delete",
    http: "DELETE",
    path: "/iam/v2/accountAssociations/{uid=**}",
    reads: false,
    summary: "take the association from its group",
    help: "Take the association from its group.",
    arguments: [
      {
        form: "ref",
        name: "association",
        kind: "association",
        fields: ["uid"],
        required: true,
      },
    ],
    flags: [],
    dryRun: true,
    response: [],
    aliases: ["rm"],
  },
  {
    method: "moorage.iam.v2.AccountAssociationsService/CheckAccountAssociation",
    verb: "check",
    kind: "call",
    http: "POST",
    path: "/iam/v2/accountAssociations/{uid=**}:checkAccountAssociation",
    body: "*",
    reads: false,
    summary: "ask the provider whether it lets this installation in",
    help: "Ask the provider whether it lets this installation in: an ID token of ours, whose subject is the group's uid, is traded at the provider's token endpoint. At Amazon it is for the role moorage-check of the account and the audience sts.amazonaws.com, at Google for the provider moorage of the workload identity pool moorage, at Azure for each client and the audience api://AzureADTokenExchange. What comes back is thrown away. Whatever goes wrong there is CHECK_STATUS_NOT_READY, with the reason.",
    arguments: [
      {
        form: "ref",
        name: "association",
        kind: "association",
        fields: ["uid"],
        required: true,
      },
    ],
    flags: [
      {
        name: "providerType",
        type: "enum",
        required: true,
        help: "The provider.",
        values: ["ACCOUNT_PROVIDER_TYPE_GOOGLE", "ACCOUNT_PROVIDER_TYPE_AMAZON", "ACCOUNT_PROVIDER_TYPE_AZURE"],
        prefix: "ACCOUNT_PROVIDER_TYPE_",
      },
    ],
    response: [
      {
        name: "status",
        type: "enum",
        help: "Whether the account can be used.",
        values: ["CHECK_STATUS_READY", "CHECK_STATUS_NOT_READY"],
        prefix: "CHECK_STATUS_",
      },
      {
        name: "reason",
        type: "string",
        help: "Why not: NOT_CONFIGURED, INCOMPLETE, UNREACHABLE, NOT_ALLOWED (our rules forbid the address or the answer), REFUSED, PROVIDER_ERROR or UNEXPECTED_ANSWER. Empty when it is ready.",
      },
      {
        name: "message",
        type: "string",
        help: "The same for people, with what the provider said.",
      },
    ],
    items: "checkAccountAssociationResponses",
  },
];
