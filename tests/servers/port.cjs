// Loaded before a server whose port is written into it: listens on $PORT instead.
const { Server } = require("node:net");
const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, typeof port === "number" ? Number(process.env.PORT) : port, ...rest);
};
