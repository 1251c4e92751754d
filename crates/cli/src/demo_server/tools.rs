//! The tools of the order desk.

use serde_json::{Value, json};

use super::{
    Release,
    data::{CUSTOMERS, Customer, ORDERS, Order, orders_of},
};

/// Orders before this one are archived, and their invoices cannot be read.
const FIRST_LIVE_ORDER: u64 = 1015;
/// Orders that `list_orders` returns, whatever there is.
const PAGE: usize = 3;

/// Returns the `tools/list` entries.
pub(super) fn list(release: Release) -> Value {
    let mut tools = first_release();
    if release == Release::Second
        && let Some(tools) = tools.as_array_mut()
    {
        for tool in &mut *tools {
            match tool["name"].as_str() {
                Some("search_orders") => {
                    tool["description"] =
                        "Finds orders by what was bought, by status or by number.".into();
                }
                Some("find_customer") => {
                    tool["description"] =
                        "Returns the customer with an e-mail address, with name and phone.".into();
                }
                Some("refund_order") => {
                    tool["inputSchema"]["properties"]["amount"]["type"] = "number".into();
                }
                _ => {}
            }
        }
        tools.push(json!({
            "name": "cancel_order",
            "description": "Cancels an order that was not shipped yet.",
            "inputSchema": object(json!({"id": {"type": "integer", "description": "Order number, such as 1017"}}), &["id"]),
            "annotations": {"readOnlyHint": false, "destructiveHint": true}
        }));
    }
    tools
}

fn first_release() -> Value {
    let id = json!({"type": "integer", "description": "Order number, such as 1017"});
    json!([
        {
            "name": "search_orders",
            "description": "Search.",
            "inputSchema": object(json!({
                "query": {"type": "string", "description": "What to look for"}
            }), &["query"]),
            "annotations": {"readOnlyHint": true}
        },
        {
            "name": "find_customer",
            "description": "Find.",
            "inputSchema": object(json!({
                "email": {"type": "string", "format": "email", "description": "Address of the customer"}
            }), &["email"]),
            "annotations": {"readOnlyHint": true}
        },
        {
            "name": "get_order",
            "description": "Returns one order with its status, items, date and total in euros.",
            "inputSchema": object(json!({"id": id}), &["id"]),
            "outputSchema": object(json!({
                "id": {"type": "integer"}, "status": {"type": "string"},
                "items": {"type": "string"}, "placed": {"type": "string"},
                "total": {"type": "number"}, "customer": {"type": "string"}
            }), &["id", "status", "total"]),
            "annotations": {"readOnlyHint": true}
        },
        {
            "name": "list_orders",
            "description": "Lists the orders of a customer, oldest first.",
            "inputSchema": object(json!({
                "customer": {"type": "string", "description": "Customer id, such as c1"}
            }), &["customer"]),
            "annotations": {"readOnlyHint": true}
        },
        {
            "name": "get_invoice",
            "description": "Returns the invoice of an order as text.",
            "inputSchema": object(json!({"id": id}), &["id"]),
            "annotations": {"readOnlyHint": true}
        },
        {
            "name": "refund_order",
            "description": "Gives money back for an order, at most what it cost.",
            "inputSchema": object(json!({
                "id": id,
                "amount": {"type": "string", "description": "Amount in euros"}
            }), &["id", "amount"]),
            "annotations": {"readOnlyHint": false, "destructiveHint": true}
        }
    ])
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// Returns the result of a call; nothing when there is no such tool.
pub(super) fn call(parameters: &Value, release: Release) -> Option<Value> {
    let arguments = parameters.get("arguments").unwrap_or(&Value::Null);
    let outcome = match parameters["name"].as_str()? {
        "search_orders" => search_orders(arguments),
        "find_customer" => find_customer(arguments),
        "get_order" => order_named(arguments).map(|order| structured(&whole(order, release))),
        "cancel_order" if release == Release::Second => cancel_order(arguments),
        "list_orders" => list_orders(arguments),
        "get_invoice" => get_invoice(arguments),
        "refund_order" => refund_order(arguments),
        _ => return None,
    };
    Some(outcome.unwrap_or_else(
        |message| json!({"content": [{"type": "text", "text": message}], "isError": true}),
    ))
}

fn search_orders(arguments: &Value) -> Result<Value, String> {
    let query = text(arguments, "query")?.to_lowercase();
    let found: Vec<Value> = ORDERS
        .iter()
        .filter(|order| {
            order.items.contains(&query)
                || order.status.contains(&query)
                || order.id.to_string() == query
        })
        .map(brief)
        .collect();
    Ok(structured(&json!({"orders": found})))
}

fn find_customer(arguments: &Value) -> Result<Value, String> {
    let email = text(arguments, "email")?;
    let Some(Customer {
        id, name, phone, ..
    }) = CUSTOMERS.iter().find(|customer| customer.email == email)
    else {
        return Err(format!("no customer has the address {email}"));
    };
    Ok(structured(
        &json!({"id": id, "name": name, "email": email, "phone": phone}),
    ))
}

/// Stops after [`PAGE`] orders and does not say so.
fn list_orders(arguments: &Value) -> Result<Value, String> {
    let customer = text(arguments, "customer")?;
    let orders: Vec<Value> = orders_of(customer).take(PAGE).map(brief).collect();
    Ok(structured(&json!({"orders": orders})))
}

fn get_invoice(arguments: &Value) -> Result<Value, String> {
    let order = order_named(arguments)?;
    if order.id < FIRST_LIVE_ORDER {
        return Err("invoice archive: connection refused".to_owned());
    }
    let text = format!(
        "Invoice for order {}, placed {}: {}, {:.2} EUR",
        order.id,
        order.placed,
        order.items,
        euros(order)
    );
    Ok(json!({"content": [{"type": "text", "text": text}], "isError": false}))
}

/// Takes the amount as text, as declared, and as a number, as it should be.
fn refund_order(arguments: &Value) -> Result<Value, String> {
    let order = order_named(arguments)?;
    let amount = match &arguments["amount"] {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    match amount {
        Some(amount) if amount > 0.0 && amount <= euros(order) => Ok(structured(
            &json!({"id": order.id, "refunded": amount, "currency": "EUR"}),
        )),
        Some(_) => Err(format!(
            "the amount must be above 0 and at most {:.2} for order {}",
            euros(order),
            order.id
        )),
        None => Err("amount must be a number of euros".to_owned()),
    }
}

fn text<'a>(arguments: &'a Value, key: &str) -> Result<&'a str, String> {
    arguments[key]
        .as_str()
        .ok_or_else(|| format!("{key} must be text"))
}

fn order_named(arguments: &Value) -> Result<&'static Order, String> {
    let id = arguments["id"]
        .as_u64()
        .ok_or("id must be a whole number")?;
    ORDERS
        .iter()
        .find(|order| order.id == id)
        .ok_or_else(|| format!("there is no order {id}"))
}

fn euros(order: &Order) -> f64 {
    // Cents of one order are far below 2^53.
    order.cents as f64 / 100.0
}

fn brief(order: &Order) -> Value {
    json!({"id": order.id, "status": order.status, "total": euros(order)})
}

/// The second release has codes where the first one has words.
fn status(order: &Order, release: Release) -> &'static str {
    match (release, order.status) {
        (Release::First, word) => word,
        (Release::Second, "shipped") => "S3",
        (Release::Second, "delivered") => "S4",
        (Release::Second, _) => "S1",
    }
}

fn cancel_order(arguments: &Value) -> Result<Value, String> {
    let order = order_named(arguments)?;
    match order.status {
        "shipped" | "delivered" => Err(format!("order {} has left the house", order.id)),
        _ => Ok(structured(&json!({"id": order.id, "cancelled": true}))),
    }
}

fn whole(order: &Order, release: Release) -> Value {
    json!({
        "id": order.id, "status": status(order, release), "items": order.items,
        "placed": order.placed, "total": euros(order), "customer": order.customer
    })
}

/// Returns a result with the data both as JSON and as text.
fn structured(data: &Value) -> Value {
    json!({
        "content": [{"type": "text", "text": data.to_string()}],
        "structuredContent": data,
        "isError": false
    })
}
